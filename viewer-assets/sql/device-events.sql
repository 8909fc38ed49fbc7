-- SPDX-License-Identifier: Apache-2.0
-- Ranges that kernels told of (run --device-events), by time over all writers, as "gputrace report
-- RECORDING device-events" has them; of a range inside others the outermost one knows the kernel.
-- Events whose begin or end is missing are not here.
select
  ifnull(
    extract_arg(s.arg_set_id, 'debug.kernel'),
    (select extract_arg(a.arg_set_id, 'debug.kernel') from ancestor_slice(s.id) a where a.depth = 0)) as kernel,
  s.name as name,
  count(*) as count,
  sum(s.dur) as total_ns,
  1.0 * sum(s.dur) / count(*) as mean_ns
from slice s
where s.category = 'device_event' and s.dur > 0
group by kernel, s.name
order by total_ns desc, kernel, s.name;
