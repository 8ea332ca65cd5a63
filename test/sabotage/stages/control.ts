import { stageControl } from "../stage.ts";

stageControl();
