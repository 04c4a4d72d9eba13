// How a card sends what somebody decided.

/** The word is what the card says of it afterwards. */
export type Decide = (path: string, body: Readonly<Record<string, unknown>>, word: string) => Promise<void>;
