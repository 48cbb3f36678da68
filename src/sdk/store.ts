/** Storage that outlives a page: the browser's, or memory where the browser allows none. */

export interface Store {
  /** The value under `key`, which other scripts may have changed; undefined when the store has none. */
  read(key: string): unknown;
  /** Undefined removes. */
  write(key: string, value: unknown): void;
  /** Everything whose key begins with `prefix`. */
  list(prefix: string): unknown[];
}

/** `open` and every use of its storage may throw: privacy settings, sandboxes, a full disk. */
export function createStore(open: () => Storage, namespace: string): Store {
  const memory = new Map<string, string>();
  let storage: Storage | undefined;
  try {
    storage = open();
    storage.getItem(namespace);
  } catch {
    storage = undefined;
  }

  const text = (key: string) => {
    try {
      return storage?.getItem(key) ?? memory.get(key);
    } catch {
      return memory.get(key);
    }
  };
  const keys = () => {
    try {
      return [...Object.keys(storage ?? {}), ...memory.keys()];
    } catch {
      return [...memory.keys()];
    }
  };
  const read = (key: string): unknown => {
    try {
      return JSON.parse(text(key) ?? 'null') ?? undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read: (key) => read(namespace + key),
    write(key, value) {
      const full = namespace + key;
      memory.delete(full);
      try {
        storage?.removeItem(full);
      } catch {}
      if (value === undefined) return;
      const json = JSON.stringify(value);
      try {
        if (storage) return storage.setItem(full, json);
      } catch {}
      memory.set(full, json);
    },
    list: (prefix) =>
      [...new Set(keys())].filter((key) => key.startsWith(namespace + prefix)).map((key) => read(key)),
  };
}
