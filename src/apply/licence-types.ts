import type { ApplyDependencies } from "./dependencies.ts";

/**
 * Whether the platform is known to show assets of a licence type, by the settings or by what was seen so far (A43); not
 * where it was seen to show none.
 */
export async function isShown(
  { settings, ledger }: Pick<ApplyDependencies, "settings" | "ledger">,
  licenseType: string,
): Promise<boolean> {
  const found = ledger.assumptions.contradictions.get("A43");
  if (found !== undefined && (found.about.length === 0 || found.about.includes(licenseType))) return false;
  const types: readonly string[] | undefined = settings.visibleLicenseTypes;
  return types === undefined ? await ledger.state.licenceTypeShown(licenseType) : types.includes(licenseType);
}
