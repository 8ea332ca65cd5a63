import { handInResources } from "../../src/app/resources.ts";

/** As the application does when it starts. */
handInResources();
