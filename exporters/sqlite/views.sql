-- SPDX-License-Identifier: Apache-2.0
-- Views of a database that gputrace export --format sqlite writes: answers to the questions that are asked most.
-- Times are nanoseconds of the boot-time clock; about has the begin of the recording. A time that is not known is NULL.

-- Kernels, one row for each execution, with the names of what its columns refer to.
CREATE VIEW kernel_runs AS
SELECT k.id, k.start_ns, k.end_ns, k.end_ns - k.start_ns AS duration_ns, s.short_name AS kernel, s.demangled AS full_name,
  f.text AS family, s.grid_x, s.grid_y, s.grid_z, s.block_x, s.block_y, s.block_z, s.registers,
  s.shared_static_bytes + s.shared_dynamic_bytes AS shared_bytes, d."index" AS gpu, d.name AS gpu_name, st.number AS stream,
  p.pid, p.name AS process, k.graph, k.api_call, a.start_ns AS launched_ns, k.start_ns - a.start_ns AS latency_ns,
  r.text AS range, k.flags & 1024 > 0 AS profiled
FROM kernels k
LEFT JOIN launch_shapes s ON s.id = k.shape
LEFT JOIN codes f ON f.table_name = 'launch_shapes' AND f.column_name = 'family' AND f.code = s.family
LEFT JOIN devices d ON d.id = k.device
LEFT JOIN streams st ON st.id = k.stream
LEFT JOIN contexts c ON c.id = st.context
LEFT JOIN processes p ON p.id = c.process
LEFT JOIN api_calls a ON a.id = k.api_call
LEFT JOIN ranges r ON r.id = a.range;

-- As report kernels: launches that were profiled have no time of their own and are left out.
CREATE VIEW kernel_totals AS
SELECT kernel, family, count(*) AS calls, sum(duration_ns) AS total_ns,
  100.0 * sum(duration_ns) / (SELECT sum(end_ns - start_ns) FROM kernels WHERE flags & 1024 = 0) AS share_percent,
  avg(duration_ns) AS mean_ns, min(duration_ns) AS min_ns, max(duration_ns) AS max_ns
FROM kernel_runs WHERE NOT profiled AND duration_ns IS NOT NULL
GROUP BY kernel, family ORDER BY total_ns DESC;

-- Kernels by the innermost range that their call was made in.
CREATE VIEW kernels_by_range AS
SELECT range, kernel, count(*) AS calls, sum(duration_ns) AS total_ns
FROM kernel_runs WHERE NOT profiled AND duration_ns IS NOT NULL
GROUP BY range, kernel ORDER BY total_ns DESC;

CREATE VIEW copy_runs AS
SELECT c.id, c.start_ns, c.end_ns, c.end_ns - c.start_ns AS duration_ns, c.size_bytes, k.text AS kind, s.text AS source,
  t.text AS destination, d."index" AS gpu, st.number AS stream, c.api_call
FROM copies c
LEFT JOIN codes k ON k.table_name = 'copies' AND k.column_name = 'kind' AND k.code = c.kind
LEFT JOIN codes s ON s.table_name = 'copies' AND s.column_name = 'src_kind' AND s.code = c.src_kind
LEFT JOIN codes t ON t.table_name = 'copies' AND t.column_name = 'dst_kind' AND t.code = c.dst_kind
LEFT JOIN devices d ON d.id = c.device
LEFT JOIN streams st ON st.id = c.stream;

CREATE VIEW copy_totals AS
SELECT kind, source, destination, count(*) AS copies, sum(size_bytes) AS size_bytes, sum(duration_ns) AS total_ns,
  1.0 * sum(size_bytes) / sum(duration_ns) AS gb_per_s
FROM copy_runs WHERE duration_ns IS NOT NULL GROUP BY kind, source, destination ORDER BY total_ns DESC;

CREATE VIEW api_totals AS
SELECT function, count(*) AS calls, sum(end_ns - start_ns) AS total_ns, avg(end_ns - start_ns) AS mean_ns,
  max(end_ns - start_ns) AS max_ns
FROM api_calls WHERE end_ns IS NOT NULL GROUP BY function ORDER BY total_ns DESC;

-- All work of GPUs in the order of its start.
CREATE VIEW gpu_work AS
SELECT start_ns, end_ns, 'kernel' AS kind, kernel AS name, gpu, stream, api_call FROM kernel_runs
UNION ALL
SELECT start_ns, end_ns, 'copy', kind, gpu, stream, api_call FROM copy_runs
UNION ALL
SELECT f.start_ns, f.end_ns, 'fill', 'fill', d."index", st.number, f.api_call
FROM fills f LEFT JOIN devices d ON d.id = f.device LEFT JOIN streams st ON st.id = f.stream
ORDER BY start_ns;

-- NVTX ranges by their text, on the host.
CREATE VIEW range_totals AS
SELECT text AS range, count(*) AS ranges, sum(end_ns - start_ns) AS total_ns, avg(end_ns - start_ns) AS mean_ns,
  min(end_ns - start_ns) AS min_ns, max(end_ns - start_ns) AS max_ns
FROM ranges WHERE end_ns IS NOT NULL GROUP BY text ORDER BY total_ns DESC;

-- What was sampled over time, a row for each value: power, clocks, memory, hardware counters.
CREATE VIEW sampled AS
SELECT s.time_ns, c.name AS counter, c.unit, s.value, d."index" AS gpu
FROM samples s JOIN counters c ON c.id = s.counter LEFT JOIN devices d ON d.id = c.device;
