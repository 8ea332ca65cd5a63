import { backups } from "../breaks/backups.ts";
import { stage } from "../stage.ts";

stage(backups);
