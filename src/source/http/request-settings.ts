import { z } from "zod";

/** A value in a query. */
export const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/u, "is no name that a header can have");

/** Headers by name. A line end in one would begin another header. */
export const headersSchema = z
  .record(
    headerName,
    z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/u, "holds characters that a header cannot hold, such as a line end"),
  )
  .default({});

/** Where something of a request goes. */
export const placeSchema = z.enum(["query", "header", "body"]);

/** An address without user and password. */
export const webUrl = z.url({ protocol: /^https?$/ }).refine((text) => {
  const url = new URL(text);
  return url.username === "" && url.password === "";
}, "has a user or password in it; they belong into auth");
