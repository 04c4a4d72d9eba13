// Names of tools as model providers take them: letters, digits, `_` and `-`.

export const plainName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
