import { z } from "zod";
import { parsePath } from "../mapping/path.ts";
import type { Issue } from "../problems.ts";
import { addressOf, type HttpListSettings, type SinceSettings } from "./http-source-settings.ts";
import { largestPosition } from "./placement.ts";
import { headerName } from "./request-settings.ts";

interface Checked extends HttpListSettings {
  key?: string | undefined;
  since?: SinceSettings | undefined;
}

export function checkList(list: Checked, baseUrl: string | undefined): Issue[] {
  return [...checkAddress(list.url, ["url"], baseUrl), ...checkPlaces(list), ...checkPaging(list)];
}

function checkAddress(text: string, path: string[], baseUrl: string | undefined): Issue[] {
  let url: URL;
  try {
    url = addressOf(text, baseUrl);
  } catch {
    return [{ path, message: "is no address; expected https://…, or a path together with baseUrl" }];
  }
  if (!/^https?:$/.test(url.protocol)) return [{ path, message: `found ${url.protocol}//…; expected https://…` }];
  if (url.username === "" && url.password === "") return [];
  return [{ path, message: "has a user or password in it; they belong into auth" }];
}

function checkPlaces(list: Checked): Issue[] {
  const { method, parametersIn, since, paging } = list;
  const issues: Issue[] = [];
  const noBody = "found body with the method GET, which has none; expected query";
  if (method === "GET" && parametersIn === "body") issues.push({ path: ["parametersIn"], message: noBody });
  if (method === "GET" && since?.in === "body") issues.push({ path: ["since", "in"], message: noBody });
  const named = (parameter: string | undefined, where: string, path: string[]): void => {
    if (parameter === undefined) return;
    const message = wrongParameter(parameter, where);
    if (message !== undefined) issues.push({ path, message });
  };
  if ("parameter" in paging) named(paging.parameter, parametersIn, ["paging", "parameter"]);
  if ("sizeParameter" in paging) named(paging.sizeParameter, parametersIn, ["paging", "sizeParameter"]);
  if (since !== undefined)
    for (const parameter of [since.parameter].flat()) named(parameter, since.in, ["since", "parameter"]);
  return issues;
}

function wrongParameter(parameter: string, where: string): string | undefined {
  if (where === "header") return z.safeParse(headerName, parameter).success ? undefined : "is no name of a header";
  if (where === "query") return undefined;
  const path = parsePath(parameter);
  if (!path.ok) return path.error;
  if (path.value.up > 0 || path.value.steps.length === 0) return "leads to no place inside the body";
  const beyond = path.value.steps.some((step) => typeof step === "number" && step > largestPosition);
  return beyond ? `has a position beyond ${largestPosition}` : undefined;
}

function checkPaging({ paging, key }: Checked): Issue[] {
  const issues: Issue[] = [];
  if (paging.kind === "keyset" && paging.key === undefined && key === undefined) {
    const message = "missing; paging by keys needs the field of the key, here or as `key` of the stream";
    issues.push({ path: ["paging", "key"], message });
  }
  return issues;
}

export function checkSession(
  auth: { kind: string; put?: { in: string; parameter: string }[]; login?: { url: string } },
  lists: readonly { path: string[]; method: string }[],
  baseUrl: string | undefined,
): Issue[] {
  if (auth.kind !== "session") return [];
  const isInBody = (auth.put ?? []).some((put) => put.in === "body");
  const message = "found GET, which has no body; `auth.put` puts the session into one";
  return [
    ...checkAddress(auth.login?.url ?? "", ["auth", "login", "url"], baseUrl),
    ...lists
      .filter(({ method }) => isInBody && method === "GET")
      .map(({ path }) => ({ path: [...path, "method"], message })),
  ];
}
