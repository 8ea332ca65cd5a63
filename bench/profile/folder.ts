/** Where what is loaded into a profiled program leaves what it saw; the name of an environment variable. */
export const profileFolder = "CRM_SYNC_PROFILE_FOLDER";
