#!/usr/bin/env python3
"""An HTTP/1.1 server that behaves well or badly, as the path of the request says.

    http_fixture.py [--host 127.0.0.1] [--tls CERT KEY] [--log FILE] [--die-after N]

Prints {"port": N} when it listens. --log gets a line for every connection ("open") and for every request ("METHOD path
bytes-of-body header-names..."). --die-after ends the process, without an answer, at request number N.

    /ok            200, two bytes                  /status/N    that status
    /bytes/N       200, N bytes                    /chunked     200, in chunks
    /slow/MS       200 after that time             /redirect    302 to /ok
    /figures       200 with Headroom-*-Ns headers  /old         HTTP/1.0: the connection is closed after the answer
    /drip          a byte every 50 ms, for ever    /hang        never an answer
    /cut           announces more than it sends    /close       closes without a byte
    /reset         breaks the connection           /garbage     no HTTP
"""
import argparse
import asyncio
import json
import os
import socket
import ssl
import struct
import sys

FIGURES = ("Headroom-Queue-Ns: 11\r\nHeadroom-Cpu-Ns: 4000000\r\nHeadroom-Runqueue-Wait-Ns: 33\r\n"
           "Headroom-Wait-Ns: nonsense\r\nHeadroom-Unknown-Ns: 1\r\n")


class Server:
    def __init__(self, options):
        self.die_after = options.die_after
        self.requests = 0
        self.log = open(options.log, "a", buffering=1, encoding="utf-8") if options.log else None

    def note(self, text):
        if self.log:
            self.log.write(text + "\n")

    async def connection(self, reader, writer):
        self.note("open")
        try:
            while await self.request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def request(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head[1:] if ":" in line}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.note(" ".join([method, path, str(len(body))] + sorted(headers)))
        self.requests += 1
        if self.die_after and self.requests >= self.die_after:
            os._exit(0)
        return await self.answer(path.split("?")[0], method, writer)

    async def answer(self, path, method, writer):
        word, _, number = path.strip("/").partition("/")
        if word in ("close", "hang"):
            if word == "hang":
                await asyncio.sleep(3600)
            return False
        if word == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if word == "garbage":
            writer.write(b"this is no HTTP\n" * 4)
            return False
        if word == "drip":
            return await self.drip(writer)
        if word == "slow":
            await asyncio.sleep(int(number) / 1000)
        await self.whole_answer(word, number, method, writer)
        return word not in ("old", "cut")

    async def whole_answer(self, word, number, method, writer):
        status, body, more = "200 OK", b"ok", ""
        if word == "status":
            status = number + " Status"
        elif word == "redirect":
            status, more = "302 Found", "Location: /ok\r\n"
        elif word == "bytes":
            body = b"x" * int(number)
        elif word == "figures":
            more = FIGURES
        length = len(body) + (100 if word == "cut" else 0)
        version = "HTTP/1.0" if word == "old" else "HTTP/1.1"
        frame = "Transfer-Encoding: chunked\r\n" if word == "chunked" else "Content-Length: %d\r\n" % length
        if status.startswith(("204", "304", "1")):
            body, frame = b"", ""
        writer.write(("%s %s\r\n%s%s\r\n" % (version, status, frame, more)).encode())
        if method != "HEAD":
            writer.write(b"1\r\no\r\n1\r\nk\r\n0\r\n\r\n" if word == "chunked" else body)
        await writer.drain()

    async def drip(self, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.05)


async def serve(options):
    context = None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
    made = Server(options)
    server = await asyncio.start_server(made.connection, options.host, 0, ssl=context, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    async with server:
        await server.serve_forever()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    p.add_argument("--log")
    p.add_argument("--die-after", type=int, default=0)
    try:
        asyncio.run(serve(p.parse_args()))
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
