"""GAT 3.50 over a serial line, by which an inspector's verifier requests signatures of the machine's software.

GAT is the Game Authentication Terminal protocol of the Gaming Standards Association (gsa-p0093). The
specification's tables were not available; this implementation follows two public sources: the GatHost project
(a verifier, 2014) and a conference report on shuffling machines that implement it (Black Hat USA 2023). Where
neither shows a layout, the module says so.
"""
