import { spawnSync } from "node:child_process";

/** The program that checks what is made for Prometheus; undefined where the machine has none. */
export const promtool = spawnSync("promtool", ["--version"]).status === 0 ? "promtool" : undefined;
