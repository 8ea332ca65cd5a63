import type { Json } from "./operations.ts";

/** One place where a life is not as it was recorded. */
export interface Difference {
  /** `calls.C1.order.2.body.customerName`. */
  path: string;
  was: Json | undefined;
  is: Json | undefined;
}

/** Everything in which two values differ, by path. Lists are compared by place. */
export function differences(was: Json | undefined, is: Json | undefined, path = ""): Difference[] {
  if (Array.isArray(was) && Array.isArray(is))
    return Array.from({ length: Math.max(was.length, is.length) }).flatMap((_, index) =>
      differences(was[index], is[index], `${path}.${index}`),
    );
  if (isObject(was) && isObject(is))
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((key) =>
      differences(was[key], is[key], `${path}.${key}`),
    );
  return was === is ? [] : [{ path: path.slice(1), was, is }];
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
