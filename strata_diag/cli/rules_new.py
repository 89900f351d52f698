def set_up(parser): pass
