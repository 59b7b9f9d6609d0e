#!/usr/bin/env python3
"""What `docshape init` makes of made-up databases whose truth is known, as rows of tables of docs/own-database.md.

    scripts/experiments/own-database.py [data] [shapes] [large] [watch] [verdict]

data    a shop, an event log with maps, a catalogue with attributes: how generated data differ from the sample, and, after the documents of both are loaded
        alike, how storage and indexes differ
shapes  one database filled in each of six shapes: which is recognised, whether `verify` passes, how many other shapes `explore` finds that verify
large   50 collections with 10 GB (GIGABYTES): seconds, memory, and what the server read (needs 15 GB of disk and ten minutes)
watch   CPU time of the server while an application makes 200 calls per second, with and without `--watch`
verdict from the database of the shop with its application to the verdict: `init --watch 1m`, `verify`, `explore --budget 10m`

DOCSHAPE is the docshape to use. Needs pymongo.
"""
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import bson
import pymongo

DOCSHAPE = os.path.abspath(os.environ.get("DOCSHAPE", "target/release/docshape"))
START = datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone.utc)
draw = random.Random(7)


def date(minutes):
    return START + datetime.timedelta(minutes=minutes)


def letters(least, most):
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(least, most)))


def prose(least, most):
    """Text that compresses as prose does, about."""
    size, text = draw.randint(least, most), ""
    while len(text) < size:
        text += draw.choices(WORDS, WORD_WEIGHTS)[0] + " "
    return text[:size]


WORDS = [letters(2, 9) for _ in range(2000)]
WORD_WEIGHTS = [rank**-1.0 for rank in range(1, 2001)]


def zipf(number, exponent):
    """Weights of ranks by Zipf's law."""
    return [rank**-exponent for rank in range(1, number + 1)]


def drawn(records, exponent, number):
    return draw.choices(records, zipf(len(records), exponent), k=number)


def oid():
    return bson.ObjectId()


def shop(db):
    products = []
    for n in range(800):
        one = {"_id": oid(), "sku": f"SKU{n:05}", "name": letters(8, 30), "category": n % 12, "price": draw.randint(100, 90_000),
               "stock": {f"wh{place}": draw.randrange(50) for place in draw.sample(range(12), 3)}}
        if draw.random() < 0.6:
            one["description"] = prose(50, 800)
        products.append(one)
    users = [{"_id": oid(), "name": letters(4, 12), "email": f"u{n}@shop.example", "created": date(n), "age": draw.randrange(18, 90)} for n in range(3000)]
    orders = []
    for n, user in enumerate(drawn(users, 0.8, 12_000)):
        lines = [{"_id": oid(), "product": one["_id"], "product_name": one["name"], "quantity": draw.randrange(1, 6), "price": one["price"] if draw.random() < 0.8 else 1}
                 for one in drawn(products, 1.1, draw.randint(1, 4))]
        orders.append({"_id": oid(), "user": user["_id"], "placed": date(n * 5), "status": draw.choice(["open", "shipped"]), "lines": lines})
    reviews = [{"_id": oid(), "product": product["_id"], "user": draw.choice(users)["_id"], "stars": draw.randint(1, 5), "text": prose(5, 400), "at": date(n)}
               for n, product in enumerate(drawn(products, 0.9, 19_000))]
    fill(db, products=products, users=users, orders=orders, reviews=reviews)
    db.products.create_index("sku", unique=True)
    db.users.create_index("email", unique=True)
    db.orders.create_index([("user", 1), ("placed", -1)])
    db.reviews.create_index("product")


def events(db):
    fill(db, events=[
        {"_id": oid(), "at": date(n), "kind": draw.choice(["click", "view"]), "counters": {f"k{draw.randrange(3000):04}": draw.randrange(9) for _ in range(draw.randint(1, 6))},
         "path": [draw.randrange(9) for _ in range(draw.randrange(9))], "bytes": bson.Int64(draw.randrange(1 << 40))}
        for n in range(30_000)])
    db.events.create_index("at", expireAfterSeconds=1_000_000_000)


def catalogue(db):
    fill(db, categories=[{"_id": n, "name": letters(4, 20)} for n in range(30)], items=[
        {"_id": oid(), "slug": f"item-{n}", "category": draw.randrange(30), "amount": draw.randrange(30),
         "attributes": [{"k": draw.choice(["size", "color"]), "v": letters(1, 9)} for _ in range(draw.randrange(8))],
         "variants": [{"_id": oid(), "colour": draw.choice(["red", "blue"]), "price": draw.random()} for _ in range(draw.randint(1, 5))]}
        for n in range(10_000)])
    db["items"].create_index("slug", unique=True)


def user(n):
    return {"_id": oid(), "name": letters(4, 20), "email": f"u{n}@shop.example"}


def order(n):
    return {"_id": oid(), "placed": date(n * 7), "status": draw.choice(["open", "paid", "sent"]), "total": draw.randrange(100, 9000)}


def embedded(db):
    fill(db, users=[user(n) | {"orders": [order(k) for k in range(draw.randrange(8))]} for n in range(200)])


def referenced(db, name=None):
    users = [user(n) for n in range(200)]
    orders = []
    for n in range(800):
        of = draw.choice(users)
        orders.append(order(n) | {"user": of["_id"]} | ({name: of["name"]} if name else {}))
    fill(db, users=users, orders=orders)
    db.orders.create_index([("user", 1), ("placed", 1)])


def copied(db):
    referenced(db, "user_name")


def listed(db, has_both=False):
    users, orders = [user(n) for n in range(200)], []
    for of in users:
        own = [order(n) for n in range(4)]
        of["orders"] = [one["_id"] for one in own]
        orders += [one | {"user": of["_id"]} if has_both else one for one in own]
    fill(db, users=users, orders=orders)


def two_way(db):
    listed(db, True)


def bucketed(db):
    users, buckets = [user(n) for n in range(200)], []
    for n, of in enumerate(users):
        own = [order(n * 30 + k) for k in range(draw.randint(8, 27))]
        for page in range(0, len(own), 10):
            part = own[page : page + 10]
            buckets.append({"_id": oid(), "user": of["_id"], "page": page // 10, "n": len(part), "orders": part})
    fill(db, users=users, order_buckets=buckets)
    db.order_buckets.create_index([("user", 1), ("page", 1)])


def large(db, collections=50, gigabytes=float(os.environ.get("GIGABYTES", "10"))):
    """Documents of 10 KB, half of them text, with references from each collection to the one before."""
    number = int(gigabytes * 1e9 / collections / 10_000)
    text = [letters(4500, 5500) for _ in range(200)]
    keys = []
    for place in range(collections):
        own = [oid() for _ in range(number)]
        for first in range(0, number, 500):
            db[NAMES[place]].insert_many(
                {"_id": key, "at": date(first + n), "kind": n % 7, "text": draw.choice(text), "data": draw.randbytes(5000),
                 **({"before": draw.choice(keys)} if keys else {})}
                for n, key in enumerate(own[first : first + 500]))
        if keys:
            db[NAMES[place]].create_index("before")
        keys = own


NAMES = [f"{first}{second}" for first in ("red", "blue", "green", "black", "white") for second in
         ("apples", "birds", "cars", "doors", "eggs", "farms", "gates", "hills", "inns", "jars")]


def fill(db, **collections):
    for name, documents in collections.items():
        db[name].insert_many(documents)


def docshape(work, *arguments):
    """Runs docshape; its exit code, output, seconds and megabytes."""
    began = time.monotonic()
    with open(work / "out", "w+") as out, open(work / "err", "w+") as err:
        child = subprocess.Popen([DOCSHAPE, *arguments], cwd=work, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if child.returncode not in (0, 4):
            print(f"{' '.join(arguments)} ended with {child.returncode}: {err.read()[-2000:]}", file=sys.stderr)
        return child.returncode, out.read(), time.monotonic() - began, usage.ru_maxrss / 1024


def worst(made, kind):
    return max((one["d"] for one in made[kind]), default=0.0)


def bytes_of(client, source, target, like):
    """Bytes of documents' storage and of indexes, after the documents of a database are loaded into a new one that has the indexes of another."""
    client.drop_database(target)
    for name in source.list_collection_names(filter={"type": "collection"}):
        own = client[target][name]
        own.insert_many(source[name].find().sort("_id", 1))
        for index in like[name].list_indexes():
            if index["name"] != "_id_":
                own.create_indexes([pymongo.IndexModel(list(index["key"].items()), **{k: v for k, v in index.items() if k in ("unique", "sparse", "partialFilterExpression")})])
    client.admin.command("fsync")
    found = {name: client[target].command("collStats", name) for name in client[target].list_collection_names()}
    client.drop_database(target)
    return {name: (one["size"], one["storageSize"], one["totalIndexSize"], one["count"]) for name, one in found.items()}


def data(client, uri, work):
    print("| database | documents | init | memory | p50 | p99 | arrays D | children D | storage | indexes | check, verify, run |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for made in (shop, events, catalogue):
        name = made.__name__
        made(client[name])
        source = uri.replace("/?", f"/{name}?")
        code, out, seconds, memory = docshape(work, "init", name, "--from", source, "--json")
        compared = json.loads(out)["comparison"]
        error = lambda quantile: max(abs(one[quantile][1] / one[quantile][0] - 1) for one in compared["sizes"])
        codes = [code, docshape(work, "check", f"{name}.yaml")[0], docshape(work, "verify", f"{name}.yaml")[0]]
        before = set(client.list_database_names())
        codes.append(docshape(work, "run", f"{name}.yaml", "--preset", "smoke", "--no-verify", "--keep", "--yes", "--uri", uri)[0])
        kept = [one for one in client.list_database_names() if one not in before]
        true, ours = (bytes_of(client, client[one], "alike", client[name]) for one in (name, kept[0]))
        per = lambda place: ", ".join(f"{(ours[one][place] / ours[one][3]) / (true[one][place] / true[one][3]) - 1:+.0%}" for one in sorted(true) if one in ours and true[one][3] >= 1000)
        documents = sum(one[3] for one in true.values())
        print(f"| {name} | {documents:,} | {seconds:.1f} s | {memory:.0f} MB | {error('p50'):.0%} | {error('p99'):.0%} | {worst(compared, 'arrays'):.3f} "
              f"| {worst(compared, 'children'):.3f} | {per(1)} | {per(2)} | {codes} |", flush=True)
        for one in kept:
            client.drop_database(one)


def shapes(client, uri, work):
    print("| filled as | recognised | `verify` | shapes of `explore` that verify | lowest estimate |")
    print("|---|---|---|---|---|")
    for made in (embedded, referenced, copied, listed, two_way, bucketed):
        name = made.__name__.replace("_", "-")
        made(client[name])
        _, out, _, _ = docshape(work, "init", name, "--from", uri.replace("/?", f"/{name}?"), "--json")
        words = ", ".join(f"{one['relation']}: {' + '.join(one['words'])}" for one in json.loads(out)["shape"])
        verified = docshape(work, "verify", f"{name}.yaml")[0]
        code, _, seconds, _ = docshape(work, "explore", f"{name}.yaml", "--no-finals", "--budget", "60s", "--preset", "smoke", "--out", f"{name}-explored")
        record = json.loads((work / f"{name}-explored" / "explore.json").read_text())
        measured = [one for one in record["tried"] if isinstance(one["outcome"], dict) and "measured" in one["outcome"]]
        problems = [one["name"] for one in record["tried"] if isinstance(one["outcome"], dict) and {"wrong", "failed"} & set(one["outcome"])]
        report = (work / f"{name}-explored" / "report.md").read_text()
        first = re.search(r"^\|? *`?([a-z_0-9]+)`?[ |]+1 ", report, re.M)
        print(f"| {name} | {words} | {verified} | {len(measured)} (exit {code}, {seconds:.0f} s) {problems or ''} | {first and first.group(1)} |", flush=True)


def big(client, uri, work):
    began = time.monotonic()
    large(client.large)
    print(f"filled in {time.monotonic() - began:.0f} s: {client.large.command('dbStats')['dataSize'] / 1e9:.1f} GB")
    client.large.create_collection("system.profile", capped=True, size=200_000_000)
    client.large.command("profile", 2)
    code, out, seconds, memory = docshape(work, "init", "large", "--from", uri.replace("/?", "/large?"), "--json")
    client.large.command("profile", 0)
    seen = list(client.large["system.profile"].find({"command.comment": "docshape init"}))
    scans = [one for one in seen if one.get("docsExamined", 0) > 5000]
    found = json.loads(out)
    spent = {}
    for one in seen:
        stages = [name for stage in one["command"].get("pipeline", []) for name in stage]
        kind = " ".join([next(iter(one["command"])), *stages])
        calls, millis = spent.get(kind, (0, 0))
        spent[kind] = calls + 1, millis + one["millis"]
    print(*(f"{calls} {kind}: {millis} ms" for kind, (calls, millis) in spent.items()), sep="\n")
    print(f"exit {code}, {seconds:.1f} s, {memory:.0f} MB; {len(seen)} profiled commands, longest {max((one['millis'] for one in seen), default=0)} ms, "
          f"{len(scans)} read more than 5,000 documents; {len(found['shape'])} relations")


class Application:
    """What makes calls on the shop, by two threads, at a steady rate."""

    def __init__(self, uri, rate=200):
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.loop, args=(pymongo.MongoClient(uri).shop, rate / 2, seed)) for seed in (1, 2)]
        self.calls = 0

    def loop(self, db, rate, seed):
        of = random.Random(seed)
        users, products = ([one["_id"] for one in db[name].find({}, {"_id": 1})] for name in ("users", "products"))
        orders = [one["_id"] for one in db.orders.find({}, {"_id": 1})]
        begun, made = time.monotonic(), 0

        def order_page():
            found = db.orders.find_one({"_id": of.choice(orders)})
            db.users.find_one({"_id": found["user"]}, {"name": 1})

        def place():
            product = db.products.find_one({"_id": of.choice(products)})
            db.orders.insert_one({"_id": oid(), "user": of.choice(users), "placed": datetime.datetime.now(datetime.timezone.utc), "status": "open", "lines": [
                {"_id": oid(), "product": product["_id"], "product_name": product["name"], "quantity": 1, "price": product["price"]}]})

        calls = [
            (35, order_page),
            (20, lambda: list(db.orders.find({"user": of.choice(users)}).sort("placed", -1).limit(10))),
            (25, lambda: db.products.find_one({"sku": f"SKU{of.randrange(800):05}"})),
            (8, lambda: list(db.reviews.find({"product": of.choice(products)}).limit(10))),
            (7, place),
            (5, lambda: db.orders.update_one({"_id": of.choice(orders)}, {"$set": {"status": of.choice(["open", "shipped"])}})),
        ]
        while not self.ended.is_set():
            of.choices([call for _, call in calls], [share for share, _ in calls])[0]()
            made, self.calls = made + 1, self.calls + 1
            time.sleep(max(0.0, begun + made / rate - time.monotonic()))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        time.sleep(3)
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def cpu(client):
    """Seconds of CPU time that the server has used."""
    pid = client.admin.command("serverStatus")["pid"]
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(client, uri, work):
    shop(client.shop)
    used = {"alone": [], "watched": []}
    with Application(uri):
        for _ in range(4):
            for kind, of in used.items():
                before, began = cpu(client), time.monotonic()
                if kind == "watched":
                    docshape(work, "init", "shop", "--from", uri.replace("/?", "/shop?"), "--watch", "30s", "--force")
                else:
                    time.sleep(33)
                of.append((cpu(client) - before) / (time.monotonic() - began))
    for kind, of in used.items():
        print(f"{kind}: CPU time of the server {statistics.mean(of):.2%} of one core, windows {', '.join(f'{one:.2%}' for one in of)}")


def verdict(client, uri, work):
    shop(client.shop)
    began = time.monotonic()
    with Application(uri):
        steps = [("init", *docshape(work, "init", "shop", "--from", uri.replace("/?", "/shop?"), "--watch", "1m"))]
    for arguments in (["verify", "shop.yaml"], ["explore", "shop.yaml", "--budget", "10m", "--preset", "quick", "--keep", "3", "--out", "explored"]):
        steps.append((arguments[0], *docshape(work, *arguments)))
    print((work / "shop.yaml").read_text())
    for name, code, out, seconds, _ in steps:
        print(f"== {name}: exit {code}, {seconds:.0f} s\n{out}")
    print(f"from the database to the verdict: {time.monotonic() - began:.0f} s")


def main():
    chosen = sys.argv[1:] or ["data", "shapes"]
    server = subprocess.Popen([DOCSHAPE, "server", "start"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        uri = next(found for line in server.stdout if (found := next((word for word in line.split() if word.startswith("mongodb://")), None)))
        client = pymongo.MongoClient(uri)
        with tempfile.TemporaryDirectory() as folder:
            for one in chosen:
                {"data": data, "shapes": shapes, "large": big, "watch": watch, "verdict": verdict}[one](client, uri, pathlib.Path(folder))
    finally:
        server.terminate()
        server.wait()


main()
