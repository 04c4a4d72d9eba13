// What the door answers when it refuses: `{error: {code, message}}` with the status of its code.

const STATUS = {
  "bad-request": 400,
  "unknown-plugin": 400,
  "unknown-command": 400,
  "baggage-missing": 400,
  "context-too-large": 400,
  unauthenticated: 401,
  "scope-missing": 403,
  "origin-refused": 403,
  "not-found": 404,
  "unknown-pipeline": 404,
  "unknown-job": 404,
  "key-conflict": 409,
  "payload-too-large": 413,
  internal: 500,
  "too-many-waiting": 503,
  "shutting-down": 503,
} as const satisfies Readonly<Record<string, number>>;

export type DoorCode = keyof typeof STATUS;

export class DoorError extends Error {
  override readonly name = "DoorError";
  readonly code: DoorCode;

  constructor(code: DoorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }

  get status(): (typeof STATUS)[DoorCode] {
    return STATUS[this.code];
  }
}
