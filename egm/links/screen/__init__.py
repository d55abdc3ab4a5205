"""The messages between the machine and the screen, and the socket that carries them."""
