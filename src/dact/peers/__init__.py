"""Solvers of others, each behind one function, and processes to run them in. Nothing here loads PyTorch."""

from dact.peers.adapters import PEERS, Peer, Stops
from dact.peers.crew import Crew, PeerError, Solved, Task

__all__ = ["PEERS", "Crew", "Peer", "PeerError", "Solved", "Stops", "Task"]
