/* libyaml: the parser behind the YAML target. */
#include <yaml.h>
