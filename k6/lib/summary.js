// What a run has measured: a table on standard output, and with `-e SUMMARY=file` a JSON document, whose shape
// README.md describes.

import { inForce } from './settings.js';

export function summarise(data, script, phases, measured, conclude) {
  const results = phases.map((phase) => resultOf(data.metrics, phase, measured));
  const failed = failedThresholds(data.metrics);
  const summary = {
    format: 'portcullis-load/1',
    script,
    started: moment(data.metrics.scenario_began),
    ended: new Date().toISOString(),
    seconds: data.state.testRunDurationMs / 1000,
    passed: failed.length === 0,
    failed_thresholds: failed,
    parameters: inForce,
    phases: results,
    checks: checks(data.root_group),
    ...(conclude ? conclude(results, data.metrics) : {}),
  };
  const outputs = { stdout: table(summary) };
  if (__ENV.SUMMARY) {
    outputs[__ENV.SUMMARY] = `${JSON.stringify(summary, null, 2)}\n`;
  }
  return outputs;
}

/** Null where no user got to send anything. */
function moment(metric) {
  return metric ? new Date(metric.values.value).toISOString() : null;
}

function resultOf(metrics, phase, measured) {
  const values = (metric) => (metrics[`${metric}{phase:${phase.name}}`] || { values: {} }).values;
  const { start, end, p95, errors, ...varied } = phase;
  const requests = values('verified_replies').count || 0;
  const result = {
    ...varied,
    requests,
    requests_per_second: requests / phase.duration,
    error_rate: values('failed_replies').rate || 0,
    corrupt_rate: values('corrupt_replies').rate || 0,
  };
  for (const [key, metric] of Object.entries(measured)) {
    result[key] = statistics(values(metric));
  }
  if (result.latency_ms) {
    result.latency_ms.stddev = deviation(values('latency_squares').count, requests, result.latency_ms.mean);
  }
  return result;
}

/** Null where nothing was measured. */
function statistics(values) {
  return values.count
    ? {
        count: values.count,
        mean: values.avg,
        min: values.min,
        p50: values.med,
        p90: values['p(90)'],
        p95: values['p(95)'],
        p99: values['p(99)'],
        p99_9: values['p(99.9)'],
        max: values.max,
      }
    : null;
}

function deviation(sumOfSquares, count, mean) {
  return Math.sqrt(Math.max(0, sumOfSquares / count - mean ** 2));
}

function failedThresholds(metrics) {
  return Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {})
      .filter(([, threshold]) => !threshold.ok)
      .map(([expression]) => `${name}: ${expression}`),
  );
}

function checks(group) {
  return Object.fromEntries(group.checks.map(({ name, passes, fails }) => [name, { passes, fails }]));
}

function table({ script, passed, failed_thresholds, parameters, phases, format, ...others }) {
  const rows = phases.map((phase) => [
    phase.name,
    String(phase.vus),
    String(phase.requests),
    phase.requests_per_second.toFixed(1),
    ...['mean', 'p50', 'p95', 'p99'].map((key) =>
      phase.latency_ms ? phase.latency_ms[key].toFixed(2) : '-',
    ),
    percent(phase.error_rate),
    percent(phase.corrupt_rate),
  ]);
  const heads = ['phase', 'VUs', 'requests', 'req/s', 'mean ms', 'p50', 'p95', 'p99', 'errors', 'corrupt'];
  const { checks: verdicts, started, ended, seconds, ...conclusions } = others;
  return [
    `${script}: ${parameters.TARGET}`,
    ...align([heads, ...rows]),
    ...Object.entries(verdicts)
      .filter(([, { fails }]) => fails > 0)
      .map(([name, { passes, fails }]) => `not so: ${name}: ${fails} of ${passes + fails} replies`),
    ...Object.entries(conclusions).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    ...failed_thresholds.map((threshold) => `crossed: ${threshold}`),
    passed ? 'passed' : 'FAILED',
    '',
  ].join('\n');
}

function align(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  '),
  );
}

function percent(rate) {
  return `${(rate * 100).toFixed(2)}%`;
}
