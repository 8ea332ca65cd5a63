import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import axe from "axe-core";
import { launch, type Browser, type Page } from "puppeteer-core";
import { z } from "zod";

/**
 * A real browser: the one that `CHROME_PATH` names, else the one that a development package ships for Linux on x64,
 * else one that is installed on the machine.
 */
const project = join(import.meta.dirname, "../..");
const shipped = join(project, "node_modules/@sparticuz/chromium");
const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Unpacks the browser of the package, once for each of its versions. */
function unpacked(): string[] {
  const packed = join(shipped, "bin/chromium.br");
  if (process.platform !== "linux" || process.arch !== "x64" || !existsSync(packed)) return [];
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(shipped, "package.json"), "utf8")));
  const folder = join(project, "node_modules/.cache/crm-sync");
  const path = join(folder, `chromium-${version}`);
  if (existsSync(path)) return [path];
  mkdirSync(folder, { recursive: true });
  const being = `${path}.${process.pid}`;
  writeFileSync(being, brotliDecompressSync(readFileSync(packed)), { mode: 0o755 });
  renameSync(being, path);
  return [path];
}

/** Whether it starts here: a library that is missing keeps it from that. */
function starts(path: string): boolean {
  try {
    execFileSync(path, ["--version"], { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

function find(): string | undefined {
  const named = process.env["CHROME_PATH"];
  if (named !== undefined) return named;
  try {
    return [...unpacked(), ...installed].find(starts);
  } catch {
    // A folder that cannot be written to.
    return installed.find(starts);
  }
}

let found: { path: string | undefined } | undefined;

/** Where a browser is; undefined: none can be had. */
export function browserPath(): string | undefined {
  found ??= { path: find() };
  return found.path;
}

/** Starts the browser, without a window and with nothing of a person in it. */
export async function startBrowser(path: string): Promise<Browser> {
  return await launch({
    executablePath: path,
    headless: "shell",
    // Tests in a container run as root, where Chromium has no sandbox of its own; it only sees pages of this program.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none", "--force-color-profile=srgb"],
  });
}

export const widths = { wide: 1280, narrow: 390 } as const;
export const schemes = ["light", "dark"] as const;
export type Width = keyof typeof widths;
export type Scheme = (typeof schemes)[number];

/** Has a page look as on such a screen. */
export async function lookAs(page: Page, width: Width, scheme: Scheme): Promise<void> {
  await page.setViewport({ width: widths[width], height: width === "wide" ? 800 : 844 });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
}

const violations = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullable(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string() })),
  }),
);

/**
 * What axe finds wrong with the page that is open, serious or critical, each with where. The script comes in past the
 * content security policy, as an extension of a browser does.
 */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const result = violations.parse(
    await page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)"),
  );
  return result
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, help, nodes }) => {
      const where = nodes.slice(0, 3).map(({ html }) => html.slice(0, 160));
      return `${impact} ${id}: ${help}: ${where.join(" | ")}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ""}`;
    });
}

/** What makes a page wider than its screen, where something does. */
export async function sideways(page: Page): Promise<number> {
  return z
    .number()
    .parse(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"));
}
