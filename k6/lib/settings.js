// What a run is told by environment variables: `k6 run -e NAME=value …`. README.md lists them all.
//
// A script gives each variable a default for a whole run and one for the quick profile, `-e PROFILE=smoke`.

const PROFILES = ['full', 'smoke'];
const UNITS_OF_TIME = { ms: 0.001, s: 1, m: 60, h: 3600 };
const UNITS_OF_SIZE = { '': 1, K: 1024, M: 1024 * 1024 };

const profile = __ENV.PROFILE || 'full';
if (!PROFILES.includes(profile)) {
  throw new Error(`PROFILE must be one of ${PROFILES.join(', ')}, not ${profile}`);
}

/** Every variable that the script has asked for, with the value in force. It goes into the summary. */
export const inForce = { PROFILE: profile };

/** A text as it stands. */
export function text(name, full, smoke = full) {
  inForce[name] = given(name, full, smoke);
  return inForce[name];
}

/** A text that no summary may show. */
export function secret(name, fallback) {
  return given(name, fallback, fallback);
}

/** One of several words. */
export function choice(name, words, full, smoke = full) {
  const word = text(name, full, smoke);
  if (!words.includes(word)) {
    throw new Error(`${name} must be one of ${words.join(', ')}, not ${word}`);
  }
  return word;
}

/** Words with commas between them, from among those that are allowed; `none` for no word. */
export function choices(name, words, full, smoke = full) {
  const chosen = items(text(name, full, smoke)).filter((word) => word !== 'none');
  const unknown = chosen.find((word) => !words.includes(word));
  if (unknown !== undefined) {
    throw new Error(`${name} must be none, or some of ${words.join(', ')}, not ${unknown}`);
  }
  return chosen;
}

/** A number that is not negative. */
export function number(name, full, smoke = full) {
  return toNumber(name, text(name, full, smoke));
}

/** Whole numbers with commas between them. */
export function numbers(name, full, smoke = full) {
  return items(text(name, full, smoke)).map((item) => toNumber(name, item));
}

/** Seconds: `90s`, `1m30s`, `500ms`. */
export function seconds(name, full, smoke = full) {
  return toSeconds(name, text(name, full, smoke));
}

/** Bytes, with commas between them where there are several: `1K,10K,1M`; K is 1024 bytes. */
export function sizes(name, full, smoke = full) {
  return items(text(name, full, smoke)).map((item) => toBytes(name, item));
}

/** Bytes as people write them: 10 KB, 500 bytes. */
export function readableSize(bytes) {
  return bytes % 1024 === 0 ? `${bytes / 1024}KB` : `${bytes}B`;
}

function given(name, full, smoke) {
  const fallback = profile === 'smoke' ? smoke : full;
  return __ENV[name] === undefined || __ENV[name] === '' ? String(fallback) : __ENV[name];
}

function items(listed) {
  return listed
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function toNumber(name, given) {
  if (!/^\d+(\.\d+)?$/.test(given)) {
    throw new Error(`${name} must be a number, not ${given}`);
  }
  return Number(given);
}

export function toSeconds(name, given) {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(given)) {
    throw new Error(`${name} must be a duration such as 60s or 1m30s, not ${given}`);
  }
  const parts = given.match(/\d+(\.\d+)?(ms|s|m|h)/g).map((part) => {
    const [, amount, , unit] = part.match(/^(\d+(\.\d+)?)(ms|s|m|h)$/);
    return Number(amount) * UNITS_OF_TIME[unit];
  });
  return parts.reduce((sum, part) => sum + part, 0);
}

export function toBytes(name, given) {
  const match = given.match(/^(\d+)([KM]?)B?$/);
  if (!match) {
    throw new Error(`${name} must be a size such as 500, 10K or 1M, not ${given}`);
  }
  return Number(match[1]) * UNITS_OF_SIZE[match[2]];
}
