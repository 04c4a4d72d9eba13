// A way from one state to another as one text, whatever the states are called.

export const wayKey = (from: string, to: string, redirect: boolean): string =>
  JSON.stringify([from, to, redirect]);
