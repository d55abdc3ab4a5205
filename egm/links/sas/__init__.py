"""The SAS line on the machine's side: codec, protocol state, the line's thread, and the replies to polls."""
