// The debugger: a page of fixed files, built from web/. It holds no data of its own, so anybody may load it;
// what it shows it asks the API for. Only its own addresses lead to it: a wrong one is still told so.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Mount, MountRequest } from "./mount.ts";
import { Problem } from "./problem.ts";

/** Every answer carries it: a worker obeys the policy of its own script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Addresses of its screens: each shows the page, which looks at the address itself. */
const SCREENS = ["/", "/inbox", "/settings", "/r/{id}", "/p/{digest}", "/compare/{a}/{b}"];
const ASSETS = "/assets/{file}";
const ICON = "/favicon.svg";

/** Beside the bundled server, or where the build puts it. */
const builtPage = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../dist/web" : "./web", import.meta.url));

export function webMount(folder: string = builtPage()): Mount {
  const files = new Files(folder);
  return {
    name: "web",
    paths: [...SCREENS, ASSETS, ICON].map((path) => ({ method: "get", path, scope: null, page: true })),
    handle: async ({ request, path, params }: MountRequest) => {
      const name =
        path.path === ASSETS
          ? `assets/${params["file"] ?? ""}`
          : path.path === ICON
            ? "favicon.svg"
            : "index.html";
      return answer(request, files.find(name), path.path === ASSETS);
    },
  };
}

function answer(request: Request, file: PageFile, isHashed: boolean): Response {
  const headers = {
    "content-security-policy": POLICY,
    "content-type": TYPES[extname(file.name)] ?? "application/octet-stream",
    "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.tag,
    vary: "accept-encoding",
  };
  if (request.headers.get("if-none-match") === file.tag) return new Response(null, { status: 304, headers });
  const accepted = request.headers.get("accept-encoding") ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  if (encoding === undefined) return new Response(new Uint8Array(file.bytes), { headers });
  const body = new Uint8Array(file.squeezed(encoding));
  return new Response(body, { headers: { ...headers, "content-encoding": encoding } });
}

/** The files of the page, read when first asked for: a server that nobody looks at holds none. */
class Files {
  readonly #folder: string;
  #byName: ReadonlyMap<string, PageFile> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(name: string): PageFile {
    this.#byName ??= this.#read();
    const found = this.#byName?.get(name);
    if (found !== undefined) return found;
    const isBuilt = this.#byName !== undefined;
    throw new Problem(
      "not-found",
      isBuilt ? "the page has no such file" : "the page was not built (npm run build)",
    );
  }

  #read(): ReadonlyMap<string, PageFile> | undefined {
    if (!existsSync(join(this.#folder, "index.html"))) return undefined;
    const paths = readdirSync(this.#folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const files = paths.map((path) => {
      const name = relative(this.#folder, path).split(sep).join("/");
      return [name, new PageFile(name, readFileSync(path))] as const;
    });
    return new Map(files);
  }
}

class PageFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly tag: string;
  readonly #squeezed = new Map<string, Buffer>();

  constructor(name: string, bytes: Buffer) {
    this.name = name;
    this.bytes = bytes;
    this.tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  }

  squeezed(encoding: "br" | "gzip"): Buffer {
    const known = this.#squeezed.get(encoding);
    if (known !== undefined) return known;
    const made =
      encoding === "gzip"
        ? gzipSync(this.bytes, { level: 9 })
        : brotliCompressSync(this.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
    this.#squeezed.set(encoding, made);
    return made;
  }
}
