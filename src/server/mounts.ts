// Every protocol beside the API.

import type { Mount } from "./mount.ts";

export const allMounts = (): readonly Mount[] => [];
