"""ccTalk devices: coin acceptor, hopper and bill validator on one bus or several."""
