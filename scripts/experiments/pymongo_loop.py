"""A hand-written loop on pymongo, which scripts/experiments/peers.sh compares with docshape.

Makes the calls of benches/points.yaml on a collection that `docshape run --keep` left, and prints calls, seconds and the
client's CPU seconds (user and kernel) as one line of JSON. Calls are drawn and documents built before the clock starts,
unlike in docshape. Latencies are not recorded.
"""

import argparse
import json
import multiprocessing
import random
import resource
import threading
import time

from pymongo import MongoClient, WriteConcern
from pymongo.read_concern import ReadConcern

INSERTED = {"reads": 0.0, "inserts": 1.0, "mixed": 0.05}
# Above the ids of the data and of docshape's calls, in two disjoint ranges; still int32 in BSON.
WARM_UP_IDS = 1_500_000_000
IDS = 1_800_000_000


def draw(template, points, share, ids, seed):
    """Draws the calls: an id is a read, a document an insert."""
    chance = random.Random(seed)
    return [{**template, "_id": number} if chance.random() < share else chance.randrange(points) for number in ids]


def work(collection, calls, barrier):
    """Makes the calls of one client, one after another, with the barrier before the first and after the last."""
    find_one, insert_one = collection.find_one, collection.insert_one
    barrier.wait()
    try:
        for call in calls:
            if isinstance(call, int):
                if find_one({"_id": call}) is None:
                    raise LookupError(f"no point {call}")
            else:
                insert_one(call)
    except BaseException:
        # The other clients must not wait for one that has failed.
        barrier.abort()
        raise
    barrier.wait()


def cpu():
    """CPU seconds of all threads of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run(collection, shares, together):
    """Runs a thread per share of the calls; returns when they started, when the last one ended, and the CPU seconds used."""
    barrier = threading.Barrier(len(shares) + 1)
    threads = [threading.Thread(target=work, args=(collection, calls, barrier), daemon=True) for calls in shares]
    for thread in threads:
        thread.start()
    together.wait()
    start, before = time.monotonic(), cpu()
    barrier.wait()
    barrier.wait()
    return start, time.monotonic(), cpu() - before


def process(arguments, number, together, results):
    """Runs one client process; if it fails, the others end, too."""
    try:
        client_process(arguments, number, together, results)
    except BaseException:
        together.abort()
        raise


def client_process(arguments, number, together, results):
    """Makes the calls of one process, with its share of the clients."""
    threads = arguments.clients // arguments.processes
    # The driver's hidden retries are off, as in docshape.
    client = MongoClient(arguments.uri, minPoolSize=threads, maxPoolSize=threads, retryReads=False, retryWrites=False)
    collection = client[arguments.database].get_collection(
        "points", read_concern=ReadConcern("local"), write_concern=WriteConcern("majority")
    )
    template = collection.find_one()
    if template is None:
        raise LookupError(f"database {arguments.database} has no points")
    points = collection.count_documents({"_id": {"$lt": 1_000_000_000}})
    for first, length in ((WARM_UP_IDS, arguments.calls // 3), (IDS, arguments.calls)):
        ids = range(first + number, first + length, arguments.processes)
        calls = draw(template, points, INSERTED[arguments.mix], ids, first + number)
        window = run(collection, [calls[thread::threads] for thread in range(threads)], together)
    results.put(window)
    client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri")
    parser.add_argument("database")
    parser.add_argument("mix", choices=INSERTED)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8, help="concurrent clients")
    parser.add_argument("--processes", type=int, default=1, help="processes; each runs an equal number of clients as threads")
    arguments = parser.parse_args()
    if arguments.clients % arguments.processes:
        parser.error("--clients must be a multiple of --processes")
    together = multiprocessing.Barrier(arguments.processes)
    results = multiprocessing.SimpleQueue()
    processes = [
        multiprocessing.Process(target=process, args=(arguments, number, together, results), daemon=True)
        for number in range(arguments.processes)
    ]
    for child in processes:
        child.start()
    for child in processes:
        child.join()
        if child.exitcode:
            raise SystemExit("pymongo_loop: a client process failed, see above")
    windows = [results.get() for _ in processes]
    seconds = max(end for _, end, _ in windows) - min(start for start, _, _ in windows)
    print(json.dumps({"calls": arguments.calls, "seconds": seconds, "cpu": sum(used for _, _, used in windows)}))


if __name__ == "__main__":
    main()
