-- SPDX-License-Identifier: Apache-2.0
-- Memory by kind and pool at the moment when most was in use of its GPU, host or pool. For another
-- moment, put its time in place of min(ts).
with
  moment as (
    select track_id, min(ts) as ts from slice
    where category = 'memory' and name glob 'peak: *'
    group by track_id)
select
  process.pid,
  memory.name as memory,
  moment.ts,
  line.name as line,
  cast(ifnull((
    select c.value from counter c
    where c.track_id = line.id and c.ts <= moment.ts
    order by c.ts desc, c.id desc limit 1), 0) as int) as bytes
from moment
join process_track memory on memory.id = moment.track_id
join process using (upid)
join track line on line.parent_id = memory.id
join counter_track unit on unit.id = line.id and unit.unit = 'bytes'
order by process.pid, memory, line;
