import { audit } from "../breaks/audit.ts";
import { stage } from "../stage.ts";

stage(audit);
