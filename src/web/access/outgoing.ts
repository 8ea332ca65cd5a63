import { Agent, fetch } from "undici";
import type { BodyInit, HeadersInit } from "undici";

/** How long an identity provider or the keys of a reverse proxy are waited for. */
export const timeoutMs = 10_000;
const agent = new Agent({ connections: 4, maxResponseSize: 1024 * 1024, connect: { timeout: timeoutMs } });

interface Asked {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null | undefined;
  redirect?: "follow" | "manual" | "error";
  signal?: AbortSignal | null | undefined;
}

/** A request of signing in: with few connections, and no answer beyond a size. */
export async function fetchOverAgent(url: string, asked: Asked): Promise<Response> {
  const { method = "GET", headers = {}, body, redirect = "manual", signal } = asked;
  const common = { method, headers, redirect, dispatcher: agent };
  return await fetch(url, { ...common, signal: signal ?? null, ...(body ? { body } : {}) });
}
