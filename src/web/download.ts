import type { PageContext } from "./page.ts";

const types: Readonly<Record<string, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  html: "text/html; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

export interface Download {
  name: string;
  bytes: AsyncIterable<Buffer>;
  /** It is shown by itself, instead of being saved. */
  isShown?: boolean;
  /** How many bytes it has, where that is known. */
  size?: number | undefined;
  /** SHA-256 of it in hexadecimal, where it is known. */
  sha256?: string | undefined;
}

/**
 * A file for the browser to save, or to show in a page of its own that may do nothing. Where its bytes end with an
 * error, so does the connection: a file that broke off is none.
 */
export function download(context: PageContext, { name, bytes, isShown = false, size, sha256 }: Download): Response {
  const safe = name.replaceAll(/[^\w.-]/gu, "_");
  const format = safe.slice(safe.lastIndexOf(".") + 1);
  context.header("content-type", types[format] ?? "application/octet-stream");
  context.header("content-disposition", `${isShown ? "inline" : "attachment"}; filename="${safe}"`);
  context.header("x-content-type-options", "nosniff");
  if (size !== undefined) context.header("content-length", String(size));
  if (sha256 !== undefined) context.header("repr-digest", `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`);
  if (isShown) context.set("isSandboxed", true);
  return context.body(ReadableStream.from(bytes));
}
