"""Words that stand where a name does and say nothing about anybody, or that are names and words of logs alike."""

from __future__ import annotations

_KEPT_USERS = """
admin administrator app appuser default default%20user defaultaccount ec2-user guest jovyan linuxbrew me name node nobody
public root runner runneradmin shared systemd-network ubuntu user username users vscode you your_name yourname
"""
_KEPT_HOSTS = """
container critical debug error fatal gateway.docker.internal git github.com host host.docker.internal hostname
huggingface.co info ip6-localhost kernel kubernetes.docker.internal localhost localhost.localdomain
metadata.google.internal n/a none notice null trace unknown warn warning
"""
_COMMON_WORDS = """
admin agent anaconda arch backend bench build builder cache card conda config console container cuda daemon data debian
debug default demo desktop develop developer device disk docker driver engine error events export fedora file files find
frontend gpu0 gpu1 guest head home host index info init intel jenkins jupyter kernel laptop linux llama load local
localhost login main master memory metal miniconda model models module node null nvidia ollama open openai operator page
path podman port process project projects proxy public python rank0 read remote root router runner server service session
shared shell source start state static status steam storage store strata stream support sync system temp test tester text
thread tmux token trace train trainer update user users video view vllm vulkan warning windows work worker workspace
workstation write
"""
# accounts that say nothing about anybody: they stay
KEPT_USERS = frozenset(_KEPT_USERS.split()) | {"all users", "default user"}
# what stands where a host's name does, and is none or everybody's
KEPT_HOSTS = frozenset(_KEPT_HOSTS.split())
# names that are words of logs as well: replaced only where they are proved to be names
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
