// The face of the second module: what api.h reads of the configurations of others, and of what runs and other tools printed.
#include "api.h"
#include "face.h"

FOURFOLD_FACE(import_plan)
FOURFOLD_FACE(export_plan)
FOURFOLD_FACE(read_run)
FOURFOLD_FACE(read_links)
