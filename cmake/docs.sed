# Makes the comments of gconv.h ones that Doxygen reads: before what they describe, or behind it.
/^.[*] ----/d
s:^\( *\)/[*] :\1/** :
s:\([;,]\) *[/][*] :\1 /**< :
