import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import { projectFolder } from "../base/program-version.ts";

/** All files that pages load. Nothing comes from another host. */
const types = {
  "dashboard.css": "text/css; charset=utf-8",
  "live.js": "text/javascript; charset=utf-8",
} as const;

interface Asset {
  body: string;
  type: string;
  hash: string;
}

const read = new Map<string, Asset>();

function asset(name: string): Asset | undefined {
  const type = Object.entries(types).find(([known]) => known === name)?.[1];
  if (type === undefined) return undefined;
  const known = read.get(name);
  if (known !== undefined) return known;
  const body = readFileSync(join(projectFolder, "assets", name), "utf8");
  const made = { body, type, hash: createHash("sha256").update(body).digest("base64url").slice(0, 12) };
  read.set(name, made);
  return made;
}

/** The content under this path never changes. */
export function assetPath(name: string): string {
  return `/assets/${asset(name)?.hash ?? "none"}/${name}`;
}

export function assetRoutes(): Hono {
  const routes = new Hono();
  routes.get("/assets/:hash/:name", (context) => {
    const found = asset(context.req.param("name"));
    if (found === undefined || found.hash !== context.req.param("hash")) return context.text("no such file\n", 404);
    return context.body(found.body, 200, {
      "content-type": found.type,
      "cache-control": "public, max-age=31536000, immutable",
    });
  });
  return routes;
}
