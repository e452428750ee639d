! Bridges to program.c: the counts of calls made, and the output of the tests.
module program_globals
  use iso_c_binding
  implicit none
  integer(c_int), bind(c, name="rank") :: rank
  interface
    subroutine tally_name_(name, length) bind(c, name="tally_name_")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine
    function print_tally() bind(c, name="print_tally") result(status)
      import
      integer(c_int) :: status
    end function
    subroutine c_exit(status) bind(c, name="exit")
      import
      integer(c_int), value :: status
    end subroutine
  end interface
end module

subroutine count_call(name)
  use program_globals
  implicit none
  character(len=*), intent(in) :: name
  call tally_name_(name, len_trim(name, kind=c_size_t))
end subroutine

! One line of output, as say() of program.c prints it.
subroutine say(the_rank, what, value)
  implicit none
  integer, intent(in) :: the_rank, value
  character(len=*), intent(in) :: what
  character(len=120) :: line
  write (line, '("[", i0, "] ", a, " ", i0)') the_rank, what, value
  write (6, '(a)') trim(line)
  flush (6)
end subroutine

subroutine check(line, failures)
  implicit none
  integer, intent(in) :: line
  integer, intent(inout) :: failures
  failures = failures + 1
  write (6, '(a, i0)') "FAILED line ", line
end subroutine

! Stops with status 1 if something was wrong.
subroutine finish(the_rank, failures)
  use program_globals
  implicit none
  integer, intent(in) :: the_rank, failures
  integer(c_int) :: status
  rank = the_rank
  status = print_tally()
  if (failures /= 0) call say(the_rank, "FAILED checks:", failures)
  flush (6)
  if (status /= 0 .or. failures /= 0) call c_exit(1_c_int)
end subroutine
