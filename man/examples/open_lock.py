#!/usr/bin/env python3
"""Opens the lock of challenge-lock.json: asks it for a challenge and answers with what only its key can make.

    export BLECTL_ADAPTER=sim:man/examples/challenge-lock.json
    man/examples/open_lock.py [PEER]

Class Session is all that a program needs to drive devices with blectl: it writes commands, one a line, and reads records.
"""
import hashlib
import hmac
import json
import os
import queue
import subprocess
import sys
import threading


class Refused(Exception):
    """A command ended with another status than 0: what blectl says about it."""

    def __init__(self, command, done):
        error = done.get("error") or {}
        super().__init__(f"{command}: {error.get('message', 'failed')}")
        self.status = done["status"]
        self.error = error


class Session:
    """`blectl repl --json`: commands go in, records come out, and each command ends with one that says "done"."""

    def __init__(self, on_record=lambda record: None):
        """on_record gets what no command has asked for: values of `subscribe`, links that are lost."""
        self.on_record = on_record
        self.waiting = {}
        self.next_id = 0
        self.lock = threading.Lock()
        self.process = subprocess.Popen(
            [os.environ.get("BLECTL", "blectl"), "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.reader.join()
        self.process.wait()

    def start(self, command):
        """Sends a command and does not wait for it: several devices may be kept busy at once. finish() takes what this returns."""
        with self.lock:
            self.next_id += 1
            number = self.next_id
            self.waiting[number] = queue.Queue()
            self.process.stdin.write(json.dumps({"id": number, "command": command}) + "\n")
            self.process.stdin.flush()
        return number, command

    def finish(self, started):
        """The records of a command, when it is done."""
        number, command = started
        records = []
        while (record := self.waiting[number].get()) is not None and record["event"] != "done":
            records.append(record)
        del self.waiting[number]
        if record is None:
            raise Refused(command, {"status": self.process.wait(), "error": {"message": "blectl has ended"}})
        if record["status"] != 0:
            raise Refused(command, record)
        return records

    def run(self, command):
        return self.finish(self.start(command))

    def _read(self):
        for line in self.process.stdout:
            record = json.loads(line)
            answers = self.waiting.get(record.get("id"))
            if answers:
                answers.put(record)
            else:
                self.on_record(record)
        for answers in list(self.waiting.values()):
            answers.put(None)


def main():
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    peer = sys.argv[1] if len(sys.argv) > 1 else "name:SmartLock"
    with Session() as lock:
        lock.run(f"connect {peer}")
        challenge = lock.run("write ffb1 01 --expect ffb2=01")[-1]["value"]
        code = hmac.new(key, bytes.fromhex(challenge)[1:] + b"\x03", hashlib.sha256).hexdigest()
        lock.run(f"write ffb1 03{code} --expect ffb2=0200 --fail-on ffb2=0201 --fail-on ffb2=0202")
        state = lock.run("read ffb3")[0]["value"]
        print("open" if state == "01" else f"not open: state {state}")


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"{refused}")
