# SPDX-License-Identifier: Apache-2.0
"""A world as nsys export --type sqlite writes it, in each schema that there was. Covers IMPORTER(nsys)."""
import os
import sqlite3

EPOCH = 1_776_781_226_557_295_056
KINDS = {"HtoD": (1, 0, 2), "DtoH": (2, 2, 1), "DtoD": (8, 2, 2)}
MACHINE = 0x1000000000000

# Columns that came later, with the schema that brought them.
LATER = {"greenContextId": (3, 13), "graphId": (3, 24), "clusterX": (3, 24), "clusterY": (3, 24), "clusterZ": (3, 24),
         "copyCount": (3, 24), "binaryData": (3, 25), "tensorSizeMinusOneElements": (3, 25), "eventSyncId": (3, 24)}

TABLES = {
    "StringIds": "id integer not null primary key, value text not null",
    "CUPTI_ACTIVITY_KIND_KERNEL":
        "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, demangledName, shortName, mangledName, "
        "launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, "
        "dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId, "
        "sharedMemoryLimitConfig, graphId, clusterX, clusterY, clusterZ, tensorSizeMinusOneElements",
    "CUPTI_ACTIVITY_KIND_MEMCPY":
        "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind, "
        "srcDeviceId, dstDeviceId, migrationCause, virtualAddress, graphNodeId, copyCount",
    "CUPTI_ACTIVITY_KIND_MEMSET":
        "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, value, bytes, graphNodeId, memKind",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE":
        "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, graphId, graphExecId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION":
        "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, syncType, eventId, eventSyncId",
    "NVTX_EVENTS":
        "start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId, uint64Value, int64Value, "
        "doubleValue, uint32Value, int32Value, floatValue, jsonTextId, jsonText, binaryData",
    "ThreadNames": "nameId, priority, globalTid",
    "PROCESSES": "globalPid, pid, name",
    "TARGET_INFO_GPU":
        "vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, memoryBandwidth, clockRate, smCount, uuid, cuDevice, "
        "maxRegistersPerBlock, maxShmemPerBlock, maxShmemPerBlockOptin, maxShmemPerSm, maxRegistersPerSm, threadsPerWarp, asyncEngines, "
        "maxWarpsPerSm, maxBlocksPerSm, computeMajor, computeMinor",
    "TARGET_INFO_CUDA_DEVICE": "gpuId, cudaId, pid, uuid, numMultiprocessors",
    "TARGET_INFO_CUDA_CONTEXT_INFO":
        "nullStreamId, hwId, vmId, processId, deviceId, contextId, parentContextId, isGreenContext, numMultiprocessors",
    "TARGET_INFO_CUDA_STREAM": "streamId, hwId, vmId, processId, contextId, priority, flag",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs, utcTime, localTime",
    "TARGET_INFO_SYSTEM_ENV": "globalVid, devStateName, name, nameEnum, value",
    "META_DATA_CAPTURE": "name, value",
}

# A text that nobody may find in a recording, and the variables that stay of an environment.
SECRET = "hunter2-is-no-password"
ENVIRONMENT = {"AWS_SECRET_ACCESS_KEY": SECRET, "HF_TOKEN": SECRET, "NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "1,0", "HOME": f"/home/{SECRET}"}
KEPT = {"NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "1,0"}


def global_pid(pid):
    return MACHINE | pid << 24


class Database:
    def __init__(self, path, schema, without=()):
        self.schema = tuple(int(part) for part in schema.split(".")[:2])
        self.without = set(without)
        if os.path.exists(path):
            os.unlink(path)
        self.database = sqlite3.connect(path)
        self.strings = {}
        self.columns = {}
        version = "META_DATA_EXPORT" if self.schema >= (3, 4) else "EXPORT_META_DATA"
        self.make(version, "name, value")
        self.add(version, name="EXPORT_SCHEMA_VERSION", value=schema)
        self.add(version, name="EXPORT_PRODUCT_VERSION", value="2026.9.9")

    def make(self, table, columns):
        if table in self.without:
            return
        names = [column for column in columns.split(", ") if LATER.get(column.split(" ")[0], (0, 0)) <= self.schema and column not in self.without]
        self.columns[table] = {name.split(" ")[0] for name in names}
        self.database.execute(f"create table {table} ({', '.join(names)})")

    def add(self, table, **values):
        if table in self.without:
            return
        if table not in self.columns:
            self.make(table, TABLES[table])
        kept = {name: value for name, value in values.items() if name in self.columns[table]}
        if kept:
            self.database.execute(f"insert into {table} ({', '.join(kept)}) values ({', '.join('?' * len(kept))})", list(kept.values()))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.add("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def place(self, row):
        return dict(start=row.start, end=row.end, deviceId=row.device, contextId=row.context, greenContextId=0, streamId=row.stream,
                    correlationId=row.correlation, globalPid=global_pid(row.process))


def add_work(file, world):
    for row in world.kernels:
        file.add("CUPTI_ACTIVITY_KIND_KERNEL", **file.place(row), demangledName=file.string(row.name), shortName=file.string(row.name[:6]),
                 launchType=1, cacheConfig=0, registersPerThread=row.registers, gridX=row.grid[0], gridY=row.grid[1], gridZ=row.grid[2],
                 blockX=row.block[0], blockY=row.block[1], blockZ=row.block[2], staticSharedMemory=row.shared, dynamicSharedMemory=0,
                 localMemoryPerThread=0, localMemoryTotal=1 << 20, gridId=row.correlation, sharedMemoryExecuted=32768,
                 graphNodeId=row.graph_node or None, sharedMemoryLimitConfig=0, graphId=3 if row.graph_node else None, clusterX=0,
                 clusterY=0, clusterZ=0)
    for row in world.copies:
        kind, source, target = KINDS[row.kind]
        file.add("CUPTI_ACTIVITY_KIND_MEMCPY", **file.place(row), bytes=row.bytes, copyKind=kind, srcKind=source, dstKind=target, copyCount=1)
    for row in world.fills:
        file.add("CUPTI_ACTIVITY_KIND_MEMSET", **file.place(row), value=0, bytes=row.bytes, memKind=2)
    for row in world.graphs:
        file.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **file.place(row), graphId=row.graph, graphExecId=row.graph + 1)
    for row in world.calls:
        file.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=row.start, end=row.end, eventClass=0, globalTid=global_pid(row.process) | row.tid,
                 correlationId=row.correlation, nameId=file.string(row.name + "_v7000"), returnValue=row.result)
    for row in world.waits:
        file.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=row.start, end=row.end, contextId=row.context, streamId=row.stream,
                 correlationId=row.correlation, globalPid=global_pid(row.process), syncType=row.kind, eventId=4294967295, eventSyncId=0)


def add_ranges(file, world):
    """Texts in the row and registered ones by turns; ranges that were pushed, and started, by turns of their names."""
    for number, row in enumerate(world.ranges):
        text = row.name
        if row.op:
            text += (f", seq = {row.sequence}" if row.sequence >= 0 else "") + f", op_id = {number}" + (f", sizes = {row.sizes}" if row.sizes else "")
        where = {"text": text} if number % 2 else {"textId": file.string(text)}
        thread = global_pid(row.process) | row.tid
        started = row.name == "measured"
        file.add("NVTX_EVENTS", start=row.start, end=row.end, eventType=60 if started else 59, globalTid=thread, domainId=0,
                 rangeId=number if started else None, endGlobalTid=thread if started else None, **where)
    if world.ranges:
        first = world.ranges[0]
        thread = global_pid(first.process) | first.tid
        file.add("NVTX_EVENTS", start=first.start, eventType=34, globalTid=thread, domainId=5, text="a mark", uint32Value=7)
        file.add("NVTX_EVENTS", start=first.start, eventType=75, globalTid=thread, domainId=5, text="library")


def add_places(file, world):
    for number, pid in enumerate(world.processes):
        file.add("PROCESSES", globalPid=global_pid(pid), pid=pid, name="python3")
        file.add("ThreadNames", nameId=file.string("trainer"), priority=20, globalTid=global_pid(pid) | pid)
        file.add("TARGET_INFO_CUDA_CONTEXT_INFO", nullStreamId=7, processId=pid, deviceId=number % 2, contextId=1 + number % 2, isGreenContext=0,
                 numMultiprocessors=0)
        for gpu in range(2):
            file.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=gpu, pid=pid, numMultiprocessors=132)
        file.add("TARGET_INFO_CUDA_STREAM", streamId=13, processId=pid, contextId=1 + number % 2, priority=4294967291, flag=2)
    for gpu in range(2):
        file.add("TARGET_INFO_GPU", id=gpu, name="NVIDIA H200", busLocation=f"0000:0{gpu}:00.0", uuid=f"554a6988-0000-0000-0000-00000000000{gpu}",
                 l2CacheSize=62914560, totalMemory=150109880320, clockRate=1980000000, smCount=132, maxRegistersPerBlock=65536,
                 maxShmemPerBlockOptin=232448, maxShmemPerSm=233472, maxRegistersPerSm=65536, threadsPerWarp=32, asyncEngines=3,
                 maxWarpsPerSm=64, maxBlocksPerSm=32, computeMajor=9, computeMinor=0)
    file.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=EPOCH)
    file.add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value="node7")
    for name, value in ENVIRONMENT.items():
        file.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value=f'{name}="{value}"')


def write(world, path, schema="3.25.0", without=()):
    file = Database(path, schema, without)
    add_work(file, world)
    add_ranges(file, world)
    add_places(file, world)
    file.database.commit()
    file.database.close()


SCHEMAS = ["2.9.1", "3.1.2", "3.4.0", "3.13.2", "3.24.14", "3.25.0"]
