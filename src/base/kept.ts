// What is worked out once and then looked up.

interface Lookup<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value under the key, made when it is asked for the first time. */
export function kept<K, V>(values: Lookup<K, V>, key: K, make: () => V): V {
  const found = values.get(key);
  if (found !== undefined) return found;
  const made = make();
  values.set(key, made);
  return made;
}
