"""GAT 3.50 over a serial line: an inspector's verifier asks this machine to sign its software.

GAT is the Game Authentication Terminal protocol of the Gaming Standards Association (gsa-p0093). The
specification's tables were not available; what is here follows what two public sources show of it: the
GatHost project (a verifier, 2014) and a conference report on shuffling machines that answer it (Black Hat USA
2023). Where neither shows a layout, the module says so.
"""
