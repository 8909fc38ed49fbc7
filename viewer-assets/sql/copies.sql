-- SPDX-License-Identifier: Apache-2.0
-- Copies by kind of copy and of memory, as "gputrace report RECORDING copies" has them. GB/s is
-- bytes by the sum of durations, so copies at the same time each count in full.
select
  extract_arg(s.arg_set_id, 'kind') as kind,
  extract_arg(s.arg_set_id, 'src') as source,
  extract_arg(s.arg_set_id, 'dst') as destination,
  count(*) as calls,
  sum(extract_arg(s.arg_set_id, 'bytes')) as bytes,
  sum(s.dur) as total_ns,
  1.0 * sum(extract_arg(s.arg_set_id, 'bytes')) / sum(s.dur) as gb_per_s
from gpu_slice s
where s.render_stage_category = 0 and extract_arg(s.arg_set_id, 'src') is not null
group by kind, source, destination
order by total_ns desc;
