/**
 * `npm run package` makes the npm package, with the bundle that was just made and with the lock file, which npm leaves
 * out of a package unless it is called `npm-shrinkwrap.json`. Arguments go to `npm pack`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build/bundle.ts";

const root = join(import.meta.dirname, "..");
const shrinkwrap = join(root, "npm-shrinkwrap.json");
await build(root, { alone: true });
copyFileSync(join(root, "package-lock.json"), shrinkwrap);
try {
  execFileSync("npm", ["pack", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
} finally {
  rmSync(shrinkwrap);
}
