// Node's HTTP modules, loaded when first used: to import them costs every command a quarter of its start,
// because an import reads all their exports, and some of those load a client of their own.

export const nodeHttp = (): typeof import("node:http") => process.getBuiltinModule("node:http");
export const nodeHttps = (): typeof import("node:https") => process.getBuiltinModule("node:https");
