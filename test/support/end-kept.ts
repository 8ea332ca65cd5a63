import { afterAll } from "vitest";
import { endKept } from "./warm.ts";

/** Each file of tests ends the processes that it kept. */
afterAll(endKept);
