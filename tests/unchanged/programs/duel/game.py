"""The game: heaps of stones, of which two players take in turn."""

from __future__ import annotations


class Player:
    def __init__(self, name):
        self.name = name
        self.taken = 0
        self.games = []

    def __repr__(self):
        return f"{self.name}:{self.taken}"


class Game:
    made = 0

    def __init__(self, players):
        Game.made += 1
        self.code = f"g{Game.made}"
        self.heaps = [3, 4, 5]
        self.players = players
        self.turn = 0
        self.moves = []
        for player in players:
            player.games.append(self)

    @property
    def current(self):
        return self.players[self.turn % len(self.players)]

    @property
    def over(self):
        return not any(self.heaps)

    def take(self, name, heap, count):
        if self.over:
            return "the game is over"
        if name != self.current.name:
            return f"it is the turn of {self.current.name}"
        if not 0 <= heap < len(self.heaps) or not 0 < count <= self.heaps[heap]:
            return "there are not so many"
        self.heaps[heap] -= count
        self.current.taken += count
        self.moves.append((name, heap, count))
        self.turn += 1
        return f"{name} wins" if self.over else "ok"


class Lobby:
    def __init__(self):
        self.games = {}
        self.players = {}

    def player(self, name):
        if name not in self.players:
            self.players[name] = Player(name)
        return self.players[name]

    def new_game(self, *names):
        game = Game([self.player(name) for name in names])
        self.games[game.code] = game
        return game

    def summary(self):
        return {
            "games": {code: game.heaps for code, game in sorted(self.games.items())},
            "players": sorted(map(repr, self.players.values())),
            "moves": sum(len(game.moves) for game in self.games.values()),
        }
