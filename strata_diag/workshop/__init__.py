"""What an author of rules works with: listing, testing and writing rules, keeping a corpus, the schema of a pack.

Nothing here is imported by the program's way from a log to a verdict.
"""
