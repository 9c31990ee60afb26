# The tour goes through, says nothing of trouble, and leaves nothing behind.
export TMPDIR=$PWD
"$DATA/../../demo/tour" >said
echo "exit $?"
grep -c '^\$ seen ' said
ls
