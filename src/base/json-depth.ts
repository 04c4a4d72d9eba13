// How deep a JSON text is nested, without parsing it: what is too deep can be parsed and then not be written
// again, because writing recurses.

/** Brackets inside strings do not count. Looks no further than it must. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (isInString) {
      if (unit === 0x5c) i++;
      else if (unit === 0x22) isInString = false;
    } else if (unit === 0x22) isInString = true;
    else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
  return false;
}
