! All that OpenMP has, as GCC compiles it of Fortran, in one program, several times over: whatever the tool does, the
! result is that of the sums.
module sums
  use omp_lib
  implicit none
  integer(8) :: total = 0
contains
  subroutine add(n)
    integer(8), intent(in) :: n
    !$omp atomic
    total = total + n
  end subroutine

  subroutine loops(n)
    integer, intent(in) :: n
    integer(8) :: s, own
    integer :: i, a(40), b(40)
    s = 0
    b = 2
    !$omp parallel num_threads(n) reduction(+:s) private(own)
    own = 0
    !$omp do schedule(static)
    do i = 1, 100
      s = s + i
    end do
    !$omp end do nowait
    !$omp do schedule(dynamic, 3)
    do i = 1, 100
      s = s + i
    end do
    !$omp do schedule(guided)
    do i = 1, 100
      s = s + i
    end do
    !$omp do schedule(runtime)
    do i = 1, 100
      s = s + i
    end do
    !$omp sections
    !$omp section
    s = s + 1
    !$omp section
    s = s + 2
    !$omp end sections
    !$omp single
    own = 1
    !$omp end single copyprivate(own)
    !$omp master
    s = s + 4 * own
    !$omp end master
    !$omp masked
    s = s + 1
    !$omp end masked
    !$omp workshare
    a = b * 3
    !$omp end workshare
    !$omp do ordered
    do i = 1, 20
      !$omp ordered
      s = s + a(i)
      !$omp end ordered
    end do
    !$omp scope
    call add(1_8)
    !$omp end scope
    !$omp barrier
    !$omp critical (named)
    total = total + 1
    !$omp end critical (named)
    !$omp end parallel
    call add(s)
  end subroutine

  subroutine doacross(n)
    integer, intent(in) :: n
    integer(8) :: line(0:63)
    integer :: i
    line = 0
    !$omp parallel do ordered(1) num_threads(n) schedule(static, 1)
    do i = 1, 63
      !$omp ordered depend(sink : i - 1)
      line(i) = line(i - 1) + i
      !$omp ordered depend(source)
    end do
    call add(line(63))
  end subroutine

  recursive function fibonacci(n) result(f)
    integer, intent(in) :: n
    integer(8) :: f, a, b
    if (n < 2) then
      f = n
      return
    end if
    !$omp task shared(a) if (n > 4)
    a = fibonacci(n - 1)
    !$omp end task
    !$omp task shared(b) final(n < 5) mergeable
    b = fibonacci(n - 2)
    !$omp end task
    !$omp taskwait
    f = a + b
  end function

  subroutine tasks(n)
    integer, intent(in) :: n
    integer(8) :: x, y
    integer(8), allocatable :: own(:)
    integer :: i
    x = 0
    y = 0
    allocate (own(5)) ! copied by a function for each task
    own = 3
    !$omp parallel num_threads(n)
    !$omp single
    call add(fibonacci(12))
    !$omp taskgroup
    !$omp taskloop grainsize(5)
    do i = 1, 50
      call add(int(i, 8))
    end do
    !$omp end taskloop
    do i = 1, 5
      !$omp task depend(out : x) priority(i)
      x = x + 1
      !$omp end task
      !$omp task depend(in : x)
      call add(x)
      !$omp end task
      !$omp task depend(in : x) depend(inout : y)
      y = y + x
      !$omp end task
      !$omp task depend(mutexinoutset : y)
      y = y + 1
      !$omp end task
      !$omp task depend(mutexinoutset : y)
      y = y + 2
      !$omp end task
      !$omp task firstprivate(own)
      call add(sum(own) * i)
      !$omp end task
    end do
    !$omp end taskgroup
    call add(y)
    !$omp task if (.false.)
    call add(7_8)
    !$omp end task
    !$omp task depend(out : x) shared(x)
    x = 40
    !$omp end task
    !$omp taskwait depend(in : x)
    call add(x)
    !$omp taskyield
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine detached(n)
    integer, intent(in) :: n
    integer(omp_event_handle_kind) :: event
    !$omp parallel num_threads(n)
    !$omp single
    !$omp task detach(event)
    call add(3_8)
    !$omp end task
    !$omp task firstprivate(event)
    call omp_fulfill_event(event)
    !$omp end task
    !$omp taskwait
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine apart(n)
    integer, intent(in) :: n
    integer :: i
    !$omp parallel num_threads(n)
    !$omp target map(tofrom : total)
    !$omp do schedule(dynamic)
    do i = 0, 2
      call add(int(i, 8))
    end do
    !$omp end do
    !$omp end target
    !$omp barrier
    call add(2_8)
    !$omp end parallel
    !$omp teams num_teams(2)
    !$omp distribute parallel do
    do i = 0, 5
      call add(int(i, 8))
    end do
    !$omp end distribute parallel do
    !$omp end teams
  end subroutine

  subroutine locks(n)
    integer, intent(in) :: n
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer(8) :: s
    integer :: i
    s = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    !$omp parallel num_threads(n)
    do i = 1, 50
      call omp_set_lock(lock)
      s = s + 1
      call omp_unset_lock(lock)
      if (omp_test_lock(lock)) call omp_unset_lock(lock)
      call omp_set_nest_lock(nest)
      call omp_set_nest_lock(nest)
      s = s + 0
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    call add(s)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
  end subroutine

  subroutine nested(n)
    integer, intent(in) :: n
    integer :: i
    call omp_set_max_active_levels(2)
    !$omp parallel num_threads(n)
    !$omp parallel num_threads(2)
    call add(1_8)
    !$omp barrier
    call add(int(omp_get_thread_num(), 8))
    !$omp end parallel
    !$omp end parallel
    call omp_set_max_active_levels(1)
    !$omp parallel num_threads(n)
    !$omp do
    do i = 1, 1000
      !$omp cancel do if (i == 3)
    end do
    !$omp end do
    !$omp end parallel
  end subroutine
end module

program constructs_fortran
  use sums
  implicit none
  integer :: round, n
  do round = 1, 2
    do n = 1, 4
      call loops(n)
      if (round == 1 .and. n < 3) call doacross(n)
      if (n > 1) call detached(n)
      call tasks(n)
      call apart(n)
      call locks(n)
      call nested(n)
    end do
  end do
  print '(i0)', total
  stop 3
end program
